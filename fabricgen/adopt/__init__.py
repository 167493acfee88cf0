"""A fabric that exists, taken over: config_db.json files to an explicit inventory that renders the same rows."""
