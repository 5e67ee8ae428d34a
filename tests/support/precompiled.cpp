// Nothing of its own: there to be compiled with precompiled.hpp.
