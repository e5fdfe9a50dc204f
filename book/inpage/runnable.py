"""Which cells of a chapter a page's Python can run: all except those that need something it doesn't
have."""

import ast
import symtable

from book.inpage.worker.session import IMPORTS, binds, statements, uses

ABSENT = {
    "concurrent",
    "duel",
    "linear",
    "multiprocessing",
    "no_triton",
    "ring",
    "subprocess",
    "threading",
    "torch",
    "triton",
    "writing",
}


def elsewhere(cells):
    """The numbers of the cells that fail in a page; text that isn't Python needs nothing."""
    gone, numbers = set(), set()
    for number, source in enumerate(cells):
        has_failed = False
        for statement in statements([source]):
            is_lost = (
                bool(reads(statement) & gone) or has_failed and not isinstance(statement, IMPORTS)
            )
            has_failed |= is_lost and not isinstance(statement, ast.FunctionDef)
            lost = absent(statement) | (binds(statement) if is_lost else set())
            gone = gone - binds(statement) | lost
            if lost or is_lost:
                numbers.add(number)
    return numbers


def absent(statement):
    """The names that its imports would give, if there were such modules."""
    return {
        alias.asname or alias.name.split(".")[0]
        for node in ast.walk(statement)
        if isinstance(node, IMPORTS)
        for alias in node.names
        if ABSENT & {*f"{getattr(node, 'module', '')}.{alias.name}".split(".")}
    }


def reads(statement):
    """The names that it takes from above, without those that its functions and loops define."""
    top = symtable.symtable(ast.unparse(statement), "<cell>", "exec")
    read = {
        symbol.get_name()
        for table in tables(top)
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (table is top or symbol.is_global())
    }
    return read - own(statement) | added_to(statement)


def tables(table):
    yield table
    for child in table.get_children():
        yield from tables(child)


def own(statement):
    """The names that a loop, or what stands inside it, sets before it reads them."""
    loops = [node for node in ast.walk(statement) if isinstance(node, (ast.For, ast.With))]
    return {
        name
        for loop in loops
        for node in ast.walk(loop)
        for target in ([node.target] if isinstance(node, ast.For) else getattr(node, "targets", []))
        for name in uses(target)
    } - added_to(statement)


def added_to(statement):
    return {
        name
        for node in ast.walk(statement)
        if isinstance(node, ast.AugAssign)
        for name in uses(node.target)
    }
