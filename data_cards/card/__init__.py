"""The dataset card and its pictures. Manifests and tables come in; README.md, plots and Croissant metadata go out."""
