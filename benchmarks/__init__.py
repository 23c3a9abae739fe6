"""Programs that measure speed, memory and quality against other tools."""
