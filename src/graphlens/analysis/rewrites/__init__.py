"""Code rewrites for the common causes of graph breaks."""

from graphlens.analysis.rewrites.offer import Rewrite, as_fix, rewrites

__all__ = ["Rewrite", "as_fix", "rewrites"]
