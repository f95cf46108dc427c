"""Tests of the interface as data: kinds, shapes, encoding and the description made from them."""
