# SPDX-License-Identifier: Apache-2.0
"""A wheel that carries the library is of one platform, but of every Python 3: there is no extension module."""
import pathlib

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel

CARRIES_LIBRARY = any(pathlib.Path(__file__).parent.glob('grove/_lib/libgrove.so*'))


class Carrying(Distribution):
    def has_ext_modules(self):  # so that the package goes where platforms' own packages go
        return CARRIES_LIBRARY


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        tag = super().get_tag()
        return ('py3', 'none', tag[2]) if CARRIES_LIBRARY else tag


setup(distclass=Carrying, cmdclass={'bdist_wheel': PlatformWheel})
