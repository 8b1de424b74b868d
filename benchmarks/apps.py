"""Everything that only measures, with its commands; the apps need none of it."""

from django.apps import AppConfig


class BenchmarksConfig(AppConfig):
    name = "benchmarks"
