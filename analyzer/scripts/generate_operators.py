#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what each operator of LibTorch does to tensors, from the schemas that LibTorch ships.

  generate_operators.py --torchgen FOLDER [--format table|yml] [--check FILE]

FOLDER is the `torchgen` beside `torch` in a Python environment: its own reader turns native_functions.yaml and
derivatives.yaml into the names and parameters of the C++ API. `table` is analyzer/model/data/Operators.def, which is
kept in the tree, since a LibTorch without Python has no schemas; `yml` is the same as a model file for another LibTorch
(docs/models.md). With --check nothing is written: exit 1, and a line for each difference, if FILE is not what would be.
Needs PyYAML.
"""
import argparse
import collections
import difflib
import pathlib
import sys
import typing

THIS = -1
# One signature of the C++ API. result: a word of docs/models.md; argument: whose storage it is; writes: arguments that
# are written to; no_graph: numbers of results that carry no autograd graph.
Role = collections.namedtuple("Role", "result argument writes no_graph")


def load(torchgen_folder):
    """LibTorch's own reader of its schemas: (functions with their derivatives, names that never have any)."""
    sys.path.insert(0, str(torchgen_folder.parent))
    try:
        import typing_extensions  # noqa: F401  torchgen wants it for what Python 3.11 has itself
    except ImportError:
        sys.modules["typing_extensions"] = typing
    from torchgen.api.autograd import match_differentiability_info
    from torchgen.gen import parse_native_yaml
    from torchgen.packaged.autograd.gen_variable_type import DONT_REQUIRE_DERIVATIVE
    from torchgen.packaged.autograd.load_derivatives import load_derivatives

    native = torchgen_folder / "packaged" / "ATen" / "native"
    schemas, tags = str(native / "native_functions.yaml"), str(native / "tags.yaml")
    derivatives = torchgen_folder / "packaged" / "autograd" / "derivatives.yaml"
    infos, _ = load_derivatives(str(derivatives), schemas, tags)
    functions = parse_native_yaml(schemas, tags).native_functions
    return match_differentiability_info(functions, infos), DONT_REQUIRE_DERIVATIVE


def schema_arguments(function):
    return list(function.func.arguments.flat_all)


def results_without_graph(matched, never):
    """Numbers of the results that no gradient flows through, as LibTorch's generator of autograd code has it."""
    function = matched.func
    returns = function.func.returns
    everything = frozenset(i for i, r in enumerate(returns) if r.type.is_tensor_like())
    name = function.func.name.name
    takes_tensors = any(a.type.is_tensor_like() for a in function.func.arguments.flat_non_out)
    if name.base in never or str(name) in never or not takes_tensors or function.func.arguments.out:
        return everything
    from torchgen.api import cpp
    from torchgen.api.autograd import gen_differentiable_outputs

    keys = matched.info or {"Default"}  # formulas for some kind of tensor alone stand for the others
    outputs = gen_differentiable_outputs(matched, "Default" if "Default" in keys else min(keys))
    flowing = {output.name for output in outputs}
    return frozenset(i for i, name in enumerate(cpp.return_names(function)) if name not in flowing) & everything


def is_certain_view(function):
    """A composite of views may take a copy on some way: `reshape`, `contiguous`, `to`."""
    return function.is_view_op and not function.has_composite_implicit_autograd_kernel


def result_role(function, index_of):
    """(word, argument) for all results together; index_of: an argument's name -> its number."""
    arguments = [a for a in schema_arguments(function) if a.type.is_tensor_like()]
    unsure = any(str(tag) == "maybe_aliasing_or_mutating" for tag in function.tags)
    roles = []
    for result in function.func.returns:
        if not result.type.is_tensor_like():
            continue
        if result.annotation is None:
            roles.append(("maybe-alias", index_of[arguments[0].name]) if unsure and arguments else ("new", THIS))
            continue
        source = next(a for a in arguments
                      if a.annotation and set(a.annotation.alias_set) & set(result.annotation.alias_set))
        certain = result.annotation.is_write or is_certain_view(function)
        roles.append(("alias" if certain else "maybe-alias", index_of[source.name]))
    if not roles:
        return ("none", THIS)
    if len(set(roles)) == 1:
        return roles[0]
    return ("none", THIS)  # each result from elsewhere, as `max_out` gives: nothing is said of them


def signatures(function):
    """(is a method, signature) for each of the C++ API."""
    from torchgen.api.types import CppSignatureGroup
    from torchgen.model import Variant

    for variant in sorted(function.variants, key=lambda v: v.name):
        method = variant is Variant.method
        group = CppSignatureGroup.from_native_function(function, method=method)
        for signature in group.signatures(symint=False):
            yield method, signature


def roles_of(matched, never):
    """(is a method, name, number of parameters or None) -> set of roles"""
    function = matched.func
    no_graph = results_without_graph(matched, never)
    for method, signature in signatures(function):
        names = [binding.name for binding in signature.arguments()]
        index_of = {name: i for i, name in enumerate(names)}
        if method:
            index_of["self"] = THIS
        writes = frozenset(index_of[a.name] for a in schema_arguments(function) if a.annotation and a.annotation.is_write)
        word, argument = result_role(function, index_of)
        # The hand-written methods have the same parameters, or an overload of their own.
        parameters = None if function.manual_cpp_binding else len(names)
        yield (method, signature.name(), parameters), Role(word, argument, writes, no_graph)


def merge(roles):
    """What holds for all of the roles."""
    words, arguments = {r.result for r in roles}, {r.argument for r in roles if r.result != "new"}
    if len(words) == 1 and len({r.argument for r in roles}) == 1:
        word, argument = next((r.result, r.argument) for r in roles)
    elif words <= {"alias", "maybe-alias", "new"} and len(arguments) == 1:
        word, argument = "maybe-alias", arguments.pop()
    else:
        word, argument = "none", THIS
    return Role(word, argument, frozenset.intersection(*(r.writes for r in roles)),
                frozenset.intersection(*(r.no_graph for r in roles)))


def rows(functions, never):
    """(is a method, name, number of parameters or None, role): one row for a name, or one for each number."""
    from torchgen.context import native_function_manager

    found = collections.defaultdict(lambda: collections.defaultdict(set))
    for matched in functions:
        with native_function_manager(matched.func):
            for (method, name, parameters), role in roles_of(matched, never):
                found[method, name][parameters].add(role)
    for (method, name), by_count in sorted(found.items()):
        every = set().union(*by_count.values())
        if len(every) == 1 or None in by_count:
            yield method, name, None, merge(every)
            continue
        for count, roles in sorted(by_count.items()):
            yield method, name, count, merge(roles)


def table(found, heading):
    def argument(index):
        return "ThisArg" if index == THIS else str(index)

    def mask(word, numbers):
        return " | ".join(f"{word}({argument(i)})" for i in sorted(numbers)) or "0"

    lines = ["// SPDX-License-Identifier: Apache-2.0", "//", *(f"// {line}" for line in heading),
             "// OPERATOR(Form, Name, Parameters or Any, Result, argument of the result, Written, Without)"]
    for method, name, count, role in found:
        word = "".join(part.capitalize() for part in role.result.split("-"))
        lines.append(f'OPERATOR({"Method" if method else "Function"}, "{name}", {"Any" if count is None else count}, '
                     f'{word}, {argument(role.argument)}, {mask("to", role.writes)}, {mask("result", role.no_graph)})')
    return lines


def model_file(found, heading):
    def argument(index):
        return "this" if index == THIS else str(index)

    lines = [*(f"# {line}" for line in heading), "version: 1", "functions:"]
    for method, name, count, role in found:
        keys = [f'names: ["{"at::Tensor" if method else "{at,torch}"}::{name}"]']
        if count is not None:
            keys.append(f"parameters: {count}")
        if role.writes:
            keys.append(f'effects: [{", ".join(f"write({argument(i)})" for i in sorted(role.writes))}]')
        if role.result != "none":
            takes = role.result in ("alias", "maybe-alias")
            keys.append(f'result: {role.result}({argument(role.argument)})' if takes else f"result: {role.result}")
        if role.no_graph:
            keys.append(f"no-graph: {sorted(role.no_graph)}")
        lines.append("  - {" + ", ".join(keys) + "}")
    return lines


def heading(folder, functions, found):
    packages = folder.parent.glob("torch-*.dist-info")
    version = next((p.name.removesuffix(".dist-info").split("-")[1] for p in packages), "unknown")
    kinds = collections.Counter(role.result for _, _, _, role in found)
    written = sum("generated" not in matched.func.tags for matched in functions)
    return ["What LibTorch's operators do to tensors, by their C++ names; made by generate_operators.py from the",
            f"schemas of LibTorch {version.split('+')[0]}: {written}, {len(functions)} with those made of them; {len(found)} rows.",
            "Results: " + ", ".join(f"{count} {word}" for word, count in sorted(kinds.items())) + "."]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchgen", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("--format", choices=["table", "yml"], default="table")
    parser.add_argument("--check", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args()
    if not (arguments.torchgen / "packaged" / "ATen" / "native" / "native_functions.yaml").exists():
        parser.error(f"{arguments.torchgen} holds no packaged/ATen/native/native_functions.yaml")
    functions, never = load(arguments.torchgen.resolve())
    found = list(rows(functions, never))
    write = table if arguments.format == "table" else model_file
    lines = write(found, heading(arguments.torchgen.resolve(), functions, found))
    if not arguments.check:
        print("\n".join(lines))
        return 0
    different = list(difflib.unified_diff(arguments.check.read_text().splitlines(), lines, str(arguments.check),
                                          "the schemas", n=0, lineterm=""))
    print("\n".join(different), end="\n" if different else "")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
