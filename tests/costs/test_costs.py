import time
import pytest
from tests.costs.asking import *
def test_measure(service, store):
    for name in REQUESTS:
        t=time.time()
        a, b = service.cost(name, 1), service.cost(name, 2)
        print(f"{name:30} {len(a.statements)}/{len(b.statements)} visited {a.visited}/{b.visited} walked {a.walked}/{b.walked} calls {a.calls}/{b.calls}  {time.time()-t:.2f}")
        if len(a.statements)!=len(b.statements):
          for s in b.statements: print("      ", s[:150])
    for name in REQUESTS:
        t=time.time()
        print(name, service.kept(name, 100), round(time.time()-t,2))
