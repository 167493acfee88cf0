"""What the fabric does under load and failure, from rendered files alone."""
