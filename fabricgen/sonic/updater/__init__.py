"""What SONiC's generic config updater (`config apply-patch`) accepts, in which changes, and at what cost."""
