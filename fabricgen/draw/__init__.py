"""Pictures of a bundle: what is drawn (planes, panels, racks, cables), and how it is written (SVG, draw.io, DOT)."""
