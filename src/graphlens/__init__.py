"""GraphLens: see what torch.compile did to a program."""
