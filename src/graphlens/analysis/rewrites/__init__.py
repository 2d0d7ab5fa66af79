"""Code rewrites for the common causes of graph breaks."""

from graphlens.analysis.rewrites.offer import Rewrite, rewrites

__all__ = ["Rewrite", "rewrites"]
