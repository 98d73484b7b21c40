"""Objective and gradient of GPy's Bayesian GP-LVM. Usage: gpy.py N M. Prints JSON: least cpu seconds of one evaluation."""
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np
import GPy

N, M = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(1)
X = rng.normal(size=(N, 2))
Y = np.c_[X, X[:, :1] ** 2, np.sin(X[:, 1:]), X[:, :1] * X[:, 1:]] + 0.1 * rng.normal(size=(N, 5))
model = GPy.models.BayesianGPLVM(Y, 2, X=X.copy(), num_inducing=M, kernel=GPy.kern.RBF(2))
theta = model.optimizer_array.copy()
best = np.inf
for k in range(8):
    model.optimizer_array = theta + 1e-6 * (k + 1)
    t = time.process_time()
    model._objective_grads(theta + 1e-5 * (k + 1))
    best = min(best, time.process_time() - t)
print(json.dumps({"cpu": best}))
