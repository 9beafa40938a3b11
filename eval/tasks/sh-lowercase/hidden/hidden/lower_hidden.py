import os, subprocess, sys, tempfile

SCRIPT = os.path.abspath("lower.sh")

def run(*args, cwd):
    done = subprocess.run(["sh", SCRIPT, *args], cwd=cwd, capture_output=True, timeout=30)
    return done.returncode, done.stdout, done.stderr

def check(condition, message):
    if not condition:
        sys.exit(f"failed: {message}")

def make(place, *paths):
    for path in paths:
        full = os.path.join(place, path)
        if path.endswith("/"):
            os.makedirs(full, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as file:
                file.write(path)

def tree(place):
    found = {}
    for directory, directories, files in os.walk(place):
        for name in directories + files:
            path = os.path.join(directory, name)
            relative = os.path.relpath(path, place)
            found[relative] = os.readlink(path) if os.path.islink(path) else None if os.path.isdir(path) else open(path).read()
    return found

with tempfile.TemporaryDirectory() as place:
    odd = ["A b/C\nD.TXT", "A b/-X", "A b/.HIDDEN", ".Dir/E", "S*/[Q]", "T\\N", "Tab\tX", " Lead", "Trail ", "\nX\n/Y\n", "ÄÖ-Ü", "$HOME", "`X`", "--Help/Z", "plain", "Deep/ER/EST/F"]
    make(place + "/top/Root", *odd, "Empty/")
    make(place, "Outside/KEEP", "KEEP")
    os.symlink("../../Outside", place + "/top/Root/Link")
    os.symlink("Missing", place + "/top/Root/BROKEN")
    before = tree(place)
    code, out, errors = run("-n", "top/Root", cwd=place)
    check(code == 0 and errors == b"" and tree(place) == before, f"-n: {code} {errors}")
    check(b"top/Root/Deep/ER -> er\n" in out and b"top/Root/Link -> link\n" in out and b"plain" not in out and b"top/Root -> " not in out, f"-n printed {out}")
    check(out.count(b" -> ") == sum(1 for path in before if path.startswith("top/Root/") and any("A" <= c <= "Z" for c in path.rsplit("/", 1)[1])), f"-n printed {out}")
    code, out, errors = run("top/Root", cwd=place)
    check((code, out, errors) == (0, b"", b""), f"odd names: {code} {out} {errors}")
    lower = lambda path: "".join(c.lower() if "A" <= c <= "Z" else c for c in path)
    expected = {("top/Root/" + lower(path[9:]) if path.startswith("top/Root/") else path): content for path, content in before.items()}
    check(tree(place) == expected, f"odd names: {tree(place)}")
    check(run("top/Root", cwd=place) == (0, b"", b""), "again")
    check(tree(place) == expected, "again")

with tempfile.TemporaryDirectory() as place:
    make(place, "d/README", "d/Readme", "d/x/File", "d/x/file", "d/Lib/A", "d/lib/B", "d/LIB/Sub/C", "d/Other/D", "d/Name", "d/NAME/E")
    before = tree(place)
    conflicts = ["d/README", "d/Readme", "d/x/File", "d/Lib", "d/LIB", "d/Name", "d/NAME"]
    expected_errors = sorted(f"lower: conflict: {path}" for path in conflicts)
    code, out, errors = run("-n", "d", cwd=place)
    check(code == 1 and sorted(errors.decode().splitlines()) == expected_errors, f"-n with conflicts: {code} {errors}")
    check(sorted(out.decode().splitlines()) == ["d/LIB/Sub -> sub", "d/LIB/Sub/C -> c", "d/Lib/A -> a", "d/NAME/E -> e", "d/Other -> other", "d/Other/D -> d", "d/lib/B -> b"], f"-n with conflicts: {out}")
    check(tree(place) == before, "-n with conflicts changed something")
    code, out, errors = run("d", cwd=place)
    check(code == 1 and out == b"" and sorted(errors.decode().splitlines()) == expected_errors, f"conflicts: {code} {errors}")
    check(sorted(tree(place)) == sorted(["d", "d/README", "d/Readme", "d/x", "d/x/File", "d/x/file", "d/Lib", "d/Lib/a", "d/lib", "d/lib/b", "d/LIB", "d/LIB/sub", "d/LIB/sub/c", "d/other", "d/other/d", "d/Name", "d/NAME", "d/NAME/e"]), f"conflicts: {sorted(tree(place))}")

with tempfile.TemporaryDirectory() as place:
    make(place, "D/Sub/One", "D/Sub/ONE", "file", "-d/X")
    code, out, errors = run("./D/", cwd=place)
    check(code == 1 and sorted(tree(place + "/D")) == ["sub", "sub/ONE", "sub/One"], f"a conflict below a renamed directory: {tree(place)}")
    check(sorted(line.replace("//", "/") for line in errors.decode().splitlines()) == ["lower: conflict: ./D/sub/ONE", "lower: conflict: ./D/sub/One"], f"the path at the end: {errors}")
    check(run("--", "-d", cwd=place)[0] == 0 and os.path.exists(place + "/-d/x"), "a directory that begins with -")
    os.symlink("D", place + "/Link")
    for args in ([], ["file"], ["missing"], ["D", "D"], ["-n"], ["-x", "D"]):
        code, out, errors = run(*args, cwd=place)
        check(code == 2 and out == b"" and errors.startswith(b"lower: "), f"{args}: {code} {errors}")
    make(place, "Many/", *[f"Many/F{number}" for number in range(40)])
    check(run("Many", cwd=place)[0] == 0 and sorted(os.listdir(place + "/Many")) == sorted(f"f{number}" for number in range(40)), "many files")
