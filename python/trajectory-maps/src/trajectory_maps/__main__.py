"""python -m trajectory_maps: the command `dtm`, wherever it is found."""

import sys

from ._cli import forward

if __name__ == "__main__":
    sys.exit(forward(sys.argv[1:]))
