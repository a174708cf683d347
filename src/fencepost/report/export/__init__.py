"""Answers for other tools: JSON, SARIF, JUnit, baselines."""
