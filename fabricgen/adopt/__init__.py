"""Import of an existing fabric: config_db.json files to an explicit inventory that renders the same rows."""
