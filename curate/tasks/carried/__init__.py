"""Programs that are written into task folders: they run in its image, without this project."""
