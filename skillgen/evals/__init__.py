"""Grades a skill: agents work on tasks against a mock of the service, with the skill and without it."""
