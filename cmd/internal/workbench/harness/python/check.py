# Reads the source in the file named by the first argument and prints, as one line of JSON, why it may not run. Nothing of it is run.
# The second argument lists further modules and built-in functions that are allowed, separated by commas.
import ast, json, sys

MODULES = set("""
abc array base64 binascii bisect calendar cmath collections collections.abc colorsys contextlib copy csv dataclasses datetime decimal
difflib enum fractions functools graphlib hashlib heapq hmac html html.parser ipaddress itertools json json.decoder json.encoder math
numbers operator pprint random re reprlib secrets statistics string struct textwrap time typing unicodedata urllib.parse uuid
xml.etree.ElementTree zlib zoneinfo __future__
""".split())

# Modules of which only some names can be used, and only as module.name.
PARTS = {
    "sys": set("argv byteorder exit float_info getrecursionlimit getsizeof hash_info implementation int_info maxsize maxunicode "
               "setrecursionlimit stderr stdout version version_info".split()),
    "io": {"BytesIO", "StringIO"},
    "types": {"MappingProxyType", "SimpleNamespace"},
}

# Names that reach the interpreter or the system from allowed modules and objects.
REACHING = set("""
os sys io builtins subprocess socket ctypes importlib codecs posix nt pathlib shutil tempfile multiprocessing signal runpy pickle
marshal gc inspect linecache traceback atexit asyncio threading modules
open open_code FileIO attrgetter methodcaller get_field system popen
mro gi_frame gi_code cr_frame cr_code ag_frame ag_code tb_frame f_back f_builtins f_globals f_locals f_code func_globals co_code
""".split())

BUILTINS = set("eval exec compile open breakpoint globals locals vars setattr delattr help".split())

DUNDERS = set("""
__init__ __new__ __name__ __qualname__ __doc__ __class__ __len__ __iter__ __next__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__
__str__ __repr__ __format__ __add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__ __pow__ __neg__ __bool__ __int__ __float__
__contains__ __getitem__ __setitem__ __enter__ __exit__ __call__ __post_init__ __version__ __annotations__ __cause__ __context__
""".split())


class Policy(ast.NodeVisitor):
    def __init__(self, allowed):
        self.allowed = allowed
        self.found = []
        self.parts = {}  # names that stand for a module of PARTS
        self.called = set()  # nodes that are called, or looked into, as they must be

    def refuse(self, node, what):
        if len(self.found) < 5:
            self.found.append({"line": getattr(node, "lineno", 0), "what": what[:80]})

    def module(self, node, name):
        root = name.split(".")[0]
        if name not in MODULES and root not in self.allowed and name not in PARTS and name != "urllib":
            self.refuse(node, "import of " + name)
            return False
        return True

    def attribute(self, node, name):
        if name in self.allowed:
            return
        dunder = name.startswith("__") and name.endswith("__")
        if dunder and name not in DUNDERS:
            self.refuse(node, "attribute " + name)
        elif name.lstrip("_") in REACHING:
            self.refuse(node, "attribute " + name)

    def visit_Import(self, node):
        for alias in node.names:
            if self.module(node, alias.name) and alias.name in PARTS and alias.name not in self.allowed:
                self.parts[alias.asname or alias.name] = alias.name

    def visit_ImportFrom(self, node):
        name = node.module or ""
        if node.level:
            self.refuse(node, "relative import")
        elif self.module(node, name):
            for alias in node.names:
                whole = name + "." + alias.name
                if alias.name == "*":
                    self.refuse(node, "import of all names of " + name)
                elif name in PARTS and name not in self.allowed:
                    if alias.name not in PARTS[name]:
                        self.refuse(node, "import of " + whole)
                elif name == "urllib" and name not in self.allowed and whole not in MODULES:
                    self.refuse(node, "import of " + whole)
                elif whole not in MODULES:
                    self.attribute(node, alias.name)

    def visit_Attribute(self, node):
        part = self.parts.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if part:
            self.called.add(node.value)
            if node.attr not in PARTS[part]:
                self.refuse(node, "%s.%s" % (part, node.attr))
        else:
            self.attribute(node, node.attr)
        self.generic_visit(node)

    def visit_Call(self, node):
        f = node.func
        if isinstance(f, ast.Name) and f.id in ("getattr", "hasattr"):
            constant = node.args[1] if len(node.args) > 1 else None
            if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                self.called.add(f)
                self.attribute(node, constant.value)
        self.generic_visit(node)

    def visit_Name(self, node):
        name = node.id
        if name in self.allowed or node in self.called:
            return
        if name in self.parts and isinstance(node.ctx, ast.Load):
            self.refuse(node, "use of %s other than %s.name" % (name, name))
        elif name in BUILTINS or name in ("getattr", "hasattr") and isinstance(node.ctx, ast.Load):
            self.refuse(node, name)
        elif name.startswith("__") and name.endswith("__") and name not in ("__name__", "__doc__", "__debug__", "__annotations__", "__class__"):
            self.refuse(node, name)

    def visit_MatchClass(self, node):
        for name in node.kwd_attrs:
            self.attribute(node, name)
        self.generic_visit(node)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        source = f.read()
    try:
        tree = compile(source, "code", "exec", ast.PyCF_ONLY_AST, True)
        compile(tree, "code", "exec", 0, True)  # finds errors such as a return outside of a function
        policy = Policy(set(filter(None, sys.argv[2].split(","))))
        policy.visit(tree)
        return {"refused": policy.found}
    except SyntaxError as e:
        return {"error": {"type": type(e).__name__, "text": str(e.msg), "line": e.lineno or 0}}
    except MemoryError as e:
        if not str(e):  # the parser names a reason when the code is nested too deeply
            return {"large": True}
        return nested(e)
    except (ValueError, RecursionError) as e:
        return nested(e)


def nested(e):
    return {"error": {"type": type(e).__name__, "text": "the code is nested too deeply or holds characters that Python does not read", "line": 0}}


print(json.dumps(main()))
