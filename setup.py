"""What a wheel holds: the library, and in mpd2/bundle what the dashboard needs of the rest of a checkout."""

from setuptools import find_packages, setup

setup(
    script_name="setup.py",  # lets it be left out of the bundle
    packages=[*find_packages(include=["mpd2*"]), "mpd2.bundle"],
    package_dir={"mpd2.bundle": "."},  # with app.py
    package_data={
        "mpd2.studio": ["static/*"],
        "mpd2.imaging": ["*.json", "simulation/*.json"],
        "mpd2.bundle": [".streamlit/config.toml", "assets/*", "data/**/*", "pages/*.py"],
    },
    exclude_package_data={"mpd2.bundle": ["data/*/build/**/*", "data/*/build/*"]},  # only needed on the way
)
