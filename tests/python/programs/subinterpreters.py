# SPDX-License-Identifier: Apache-2.0
import sys
import threading

from common import allocate

try:
    import _interpreters as interpreters

    create, run = lambda: interpreters.create("legacy"), interpreters.run_string
except ImportError:
    import _xxsubinterpreters as interpreters

    create = (lambda: interpreters.create(isolated=False)) if sys.version_info >= (3, 9) else interpreters.create
    run = interpreters.run_string

code = """
import sys
sys.argv, sys.path[0:0] = %r, [%r]
from common import allocate
def inside_sub():
    allocate(700)
inside_sub()
""" % (sys.argv, sys.path[0])


def enter():
    allocate(701)
    sub = create()
    run(sub, code)
    run(sub, code)
    interpreters.destroy(sub)
    allocate(702)


enter()
thread = threading.Thread(target=enter)
thread.start()
thread.join()
print("done")
