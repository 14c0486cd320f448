"""Published trainings as YAML files. A recipe's name comes in; finished stages or their cost go out."""
