"""Rules on links and cables, and on the rails they form."""
