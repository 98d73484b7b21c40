"""Disease trajectory maps: place individuals on a fitted map and forecast them, without Node.

>>> from trajectory_maps import example_model, load_model, place
>>> someone = place(load_model(example_model()), times=[0, 1.5], values=[82, 79])
>>> forecast = someone.predict([3, 5])
>>> forecast.median.shape
(2,)
"""

from ._cli import Fit, Study, associate, compare, fit, groups
from ._embed import embed, forecast
from ._errors import TrajectoryMapsError
from ._estimator import TrajectoryMap
from ._model import Model, example_model, load_model
from ._packed import Plan, statistics, write_statistics
from ._place import Placement, place, place_at
from ._predict import Crossing, Prediction, Series, crossing, predict
from ._suspects import Suspect

__version__ = "0.1.0"
__all__ = [
    "Crossing",
    "Fit",
    "Model",
    "Placement",
    "Plan",
    "Prediction",
    "Series",
    "Study",
    "Suspect",
    "TrajectoryMap",
    "TrajectoryMapsError",
    "associate",
    "compare",
    "crossing",
    "embed",
    "example_model",
    "fit",
    "forecast",
    "groups",
    "load_model",
    "place",
    "place_at",
    "predict",
    "statistics",
    "write_statistics",
]
