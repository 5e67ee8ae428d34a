"""For scripts/build-wheel: a wheel has the library and the program, so it is for one kind of machine, and for every Python."""
import os

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel


class OfOneMachine(Distribution):
    def has_ext_modules(self) -> bool:
        return True


class ForEveryPython(bdist_wheel):
    def get_tag(self) -> "tuple[str, str, str]":
        return ("py3", "none", super().get_tag()[2])


setup(version=os.environ["BLOOMGATE_VERSION"], distclass=OfOneMachine, cmdclass={"bdist_wheel": ForEveryPython})
