# Runs the source in the file named by the first argument as the main module, under the name in the second. The third names a file of JSON
# with the files that it is given; the rest are its arguments.
import sys


def main():
    path, name, given = sys.argv[1:4]
    with open(path, encoding="utf-8") as f:
        source = f.read()
    sys.argv = [name] + sys.argv[4:]
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    with open(given, "rb") as f:
        given = f.read()
    if given != b"{}":
        import base64, json
        files = json.loads(given)
        module.files = {n: c if isinstance(c, str) else base64.b64decode(c[0]) for n, c in files.items()}
    try:
        exec(compile(source, name, "exec", 0, True), module.__dict__)
    except Exception as e:
        # As the interpreter would print it, without the frame of this file.
        e.__traceback__ = e.__traceback__.tb_next
        sys.excepthook(type(e), e, e.__traceback__)
        sys.exit(1)


main()
