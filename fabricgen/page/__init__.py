"""The report as one web page: what a judged bundle shows (its JSON), and the page that draws it without a network."""
