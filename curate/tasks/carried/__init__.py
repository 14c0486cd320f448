"""Programs that are written into task folders: they run in the task's image, with pytest and nothing of this project."""
