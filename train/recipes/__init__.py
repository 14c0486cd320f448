"""Published trainings as YAML files. A recipe's name comes in; its stages run one by one, or their cost goes out."""
