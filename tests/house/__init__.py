"""Tests of the house itself: its files, its lock files, its tables of itself."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
