# SPDX-License-Identifier: Apache-2.0
"""Reports made by hand, with every kind of finding and every field; for the tests of the formats."""
import copy
import random


def frame(function, file="", line=0, user=True, library="trainer", column=3):
    return {"function": function, "file": file, "line": line, "column": column if file else 0, "library": library, "user": user}


def stack(*lines, function="step"):
    """The innermost first: an operator of LibTorch's, then the program's functions."""
    inner = [frame("at::_ops::mul::call(at::Tensor const&, at::Tensor const&)", user=False, library="libtorch_cpu.so")]
    calls = [frame(f"{function}_{line}(int)", "/src/app/model.cpp", line) for line in lines]
    return inner + calls + [frame("main", "/src/app/main.cpp", 9), frame("_start", user=False)]


def site(operator, tensor, count, size, *lines, **words):
    return {"operator": operator, "tensor": tensor, "count": count, "bytes": size, "stack": stack(*lines, **words)}


def place(line, function="train()"):
    return {"file": "/src/app/main.cpp", "line": line, "function": function}


def leak(kind, size, of_site, graph=(), scopes=(), **more):
    sites = list(graph)
    return {"kind": kind, "bytes": size, "runs": 3, "site": of_site,
            "scopes": [dict(place(line), kind="scope") for line in scopes],
            "graph": {"count": sum(one["count"] for one in sites), "bytes": sum(one["bytes"] for one in sites), "sites": sites},
            **more}


def sums(report):
    """Fills in what follows from the rest."""
    leaks = report["leaks"]
    escapes = [one for one in leaks if one["kind"] == "escape"]
    report["leaked"] = {
        "count": sum(one["graph"]["count"] + (0 if one["kind"] in ("graph", "escape") else one["site"]["count"]) for one in leaks),
        "bytes": sum(one["bytes"] for one in leaks if one["kind"] != "escape")}
    report["escaped"] = {"count": sum(one["site"]["count"] for one in escapes)}
    sites = report["held"]["sites"]
    report["held"].update(count=sum(one["count"] for one in sites), bytes=sum(one["bytes"] for one in sites))
    known = report["leaked"]["bytes"] + report["held"]["bytes"] + sum(one["bytes"] for one in report["open_sessions"])
    report["attributed"] = {"bytes": known, "of": known + 64}
    report["devices"] = [{"device": "cpu", "live_bytes": known + 64, "peak_bytes": 3 * known}]
    return report


def process(rank=None, pid=4711):
    return {"pid": pid, "host": "node7", "rank": rank, "program": "/opt/app/trainer", "time": "2026-01-02T03:04:05Z"}


def timeline(points=200, most=100000):
    live = [most * (i + 1) // points for i in range(points)]
    return {"seconds": 12.5, "devices": [{"device": "cpu", "times": [12.5 * i / points for i in range(points)], "live": live,
                                          "peak": [value + 500 for value in live]}]}


def every_kind():
    """One finding of each kind, with all that other parts may add."""
    saved = [site("aten::randn", "Float [8, 16] on cpu", 6, 3072, 40), site("aten::tanh", "Float [8, 4] on cpu", 6, 768, 41)]
    use = {"operator": "aten::mul", "tensor": "Float [33] on cpu", "bytes": 132, "used_by": "aten::sum", "times": 3,
           "cause": "scope_end", "where": place(30), "created": stack(31), "released": stack(32), "used": stack(33)}
    after_session = dict(copy.deepcopy(use), cause="session_end", closed=place(35), used_by="", times=1)
    session = {"where": place(50), "thread": 2, "count": 2, "bytes": 800, "sites": [site("aten::ones", "Float [100] on cpu", 2, 800, 51)]}
    return sums({
        "version": 1, "process": process(),
        "leaks": [
            leak("result", 3852, site("aten::sum", "Float [] on cpu", 3, 12, 10), graph=saved, scopes=[20],
                 growth={"tensors_per_iteration": 1.0, "bytes_per_iteration": 1284.0, "iterations": 240},
                 holders=[{"count": 3, "kind": "static", "text": "static 'losses' (model.cpp:12)", "chain": ["std::vector", "Tensor"]}]),
            leak("retained", 420, site("aten::mul", "Float [3, 7] on cpu", 5, 420, 11, 12), scopes=[21, 22]),
            leak("graph", 640, site("aten::zeros", "Float [] on cpu", 1, 4, 13),
                 graph=[site("aten::exp", "Float [5, 16] on cpu", 2, 640, 14)]),
            leak("lost", 440, site("aten::ones", "Float [10, 11] on cpu", 1, 440, 15)),
            leak("piled", 400, site("aten::rand", "Float [10] on cpu", 10, 400, 16)),
            leak("left_alive", 16, site("aten::ones", "Float [4] on cpu", 1, 16, 17), scopes=[23]),
            leak("escape", 0, site("aten::div", "Float [33] on cpu", 1, 132, 18), scopes=[24])],
        "open_sessions": [session], "uses_after_release": [use, after_session], "main_returned": False,
        "held": {"sites": [site("aten::arange", "Long [100] on cpu", 1, 800, 60), site("aten::empty", "a tensor", 1, 8, 61)]},
        "timeline": timeline(), "suppressed": [{"rule": "leak:cache_", "count": 2, "bytes": 99}],
        "health": ["LibTorch's CPU allocator was replaced"]})


def clean():
    return sums({"version": 1, "process": process(), "leaks": [], "open_sessions": [], "uses_after_release": [],
                 "main_returned": True, "held": {"sites": []}, "timeline": timeline(3)})


def hostile():
    """Names that would break what forgets to escape them."""
    report = every_kind()
    name = "</script><script>alert('x')</script><!-- <b>&amp;\"'` ;\n\t\\ \u2028 é日"
    for number, one in enumerate(report["leaks"]):
        one["site"]["operator"] = f"op{number};{name}"
        one["site"]["stack"] = [frame(name, f"/src/{name}.cpp", 7), frame("x" * 3000, "/src/long.cpp", 8)]
        one["holders"] = [{"count": 1, "kind": "heap", "text": name, "chain": [name]}]
    report["process"]["program"] = f"/opt/{name}"
    report["health"] = [name]
    return report


def many(groups=10000, seed=5):
    """As large as reports get."""
    random.seed(seed)
    leaks = []
    for number in range(groups):
        lines = [random.randrange(1, 4000), random.randrange(1, 400), number % 60 + 1, number % 7 + 1]
        size = random.randrange(4, 4000000)
        leaks.append(leak("retained" if number % 2 else "piled", size,
                          site("aten::mul", f"Float [{number}, 3] on cpu", number % 9 + 1, size, *lines), scopes=[number % 50]))
    leaks.sort(key=lambda one: -one["bytes"])
    return sums({"version": 1, "process": process(), "leaks": leaks, "open_sessions": [], "uses_after_release": [],
                 "main_returned": True, "held": {"sites": []}, "timeline": timeline(900, 10**10)})
