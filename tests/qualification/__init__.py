"""Tests of qualification: free titles, their questionnaires, and their audit."""
