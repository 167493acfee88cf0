"""The command line: a module per verb parses the options, calls the API, and prints the result."""
