"""Faults, injected one at a time into what Inductor compiles, through its custom-pass options."""
