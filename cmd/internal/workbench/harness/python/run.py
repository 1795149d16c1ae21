# Runs the source in the file named by the first argument as the main module, under the name in the second; the rest are its arguments.
import sys


def main():
    path, name = sys.argv[1:3]
    with open(path, encoding="utf-8") as f:
        source = f.read()
    sys.argv = [name] + sys.argv[3:]
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    try:
        exec(compile(source, name, "exec", 0, True), module.__dict__)
    except Exception as e:
        # As the interpreter would print it, without the frame of this file.
        e.__traceback__ = e.__traceback__.tb_next
        sys.excepthook(type(e), e, e.__traceback__)
        sys.exit(1)


main()
