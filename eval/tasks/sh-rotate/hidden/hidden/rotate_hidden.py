import os, subprocess, sys, tempfile

SCRIPT = os.path.abspath("rotate.sh")

def run(*args, cwd=None):
    done = subprocess.run(["sh", SCRIPT, *args], cwd=cwd, capture_output=True, text=True, timeout=20)
    return done.returncode, done.stdout.splitlines(), done.stderr

def check(condition, message):
    if not condition:
        sys.exit(f"failed: {message}")

def make(directory, *names):
    os.makedirs(directory, exist_ok=True)
    for name in names:
        open(os.path.join(directory, name), "w").close()

def backup(prefix, day, time="120000"):
    return f"{prefix}-202603{day:02}-{time}.tar.gz"

for prefix in ["db", "a b", "x*", "p[ab]", "d.b", "-n", "-", "a-b", "$HOME", "q'\"", "back\\slash"]:
    with tempfile.TemporaryDirectory() as place:
        directory = os.path.join(place, "my backups")
        mine = [backup(prefix, day) for day in range(1, 8)] + [backup(prefix, 8, "000001"), backup(prefix, 8, "235959")]
        others = [backup("xy", 1), backup("pa", 1), backup("dxb", 1), backup(prefix + "-old", 1), prefix + "-2026031-120000.tar.gz",
                  prefix + "-20260301-1200000.tar.gz", prefix + "-20260301-120000.tar.gz.bak", prefix + "-2026030x-120000.tar.gz",
                  prefix + "-20260301-120000.tar", backup(prefix, 2) + ".sha256.old", ".hidden", "z" + backup(prefix, 1)]
        others = [name for name in others if name not in mine]
        sums = [mine[0] + ".sha256", mine[1] + ".sha256", mine[8] + ".sha256"]
        make(directory, *mine, *others, *sums)
        # The times of the files say the opposite of the names.
        for age, name in enumerate(mine):
            os.utime(os.path.join(directory, name), (10**9 - age, 10**9 - age))
        link = backup(prefix, 1, "000000")
        os.symlink(mine[8], os.path.join(directory, link))
        folder = backup(prefix, 1, "000001")
        make(os.path.join(directory, folder), backup(prefix, 1))
        whole = set(os.listdir(directory))
        end = ["--"] if prefix.startswith("-") else []
        code, printed, _ = run("--dry-run", *end, directory, prefix, "3")
        check((code, printed, set(os.listdir(directory))) == (0, mine[:6], whole), f"dry run of {prefix!r}: {printed}")
        code, printed, errors = run(*end, directory, prefix, "3")
        check((code, printed) == (0, mine[:6]), f"{prefix!r} printed {printed} {errors}")
        check(set(os.listdir(directory)) == whole - set(mine[:6]) - set(sums[:2]), f"{prefix!r} left {sorted(os.listdir(directory))}")
        code, printed, _ = run(*end, directory, prefix, "3")
        check((code, printed) == (0, []), f"{prefix!r} again: {printed}")

with tempfile.TemporaryDirectory() as place:
    make(place + "/-d", *[backup("db", day) for day in (1, 2, 3)])
    check(run("--", "-d", "db", "2", cwd=place)[:2] == (0, [backup("db", 1)]), "a directory that begins with -")
    check(run("./-d", "db", "1", "--dry-run", cwd=place)[:2] == (0, [backup("db", 2)]), "--dry-run at the end")
    check(run("./-d", "--dry-run", "db", "1", cwd=place)[:2] == (0, [backup("db", 2)]), "--dry-run in the middle")
    check(run("--", "./-d", "--dry-run", "1", cwd=place)[:2] == (0, []), "--dry-run behind -- is a prefix")
    for args in [[], ["./-d"], ["./-d", "db"], ["./-d", "db", "1", "2"], ["./-d", "db", "0"], ["./-d", "db", "-1"], ["./-d", "db", "x"],
                 ["./-d", "db", ""], ["./-d", "db", "1.5"], ["./-d", "db", "1 2"]]:
        code, printed, errors = run(*args, cwd=place)
        check(code == 2 and printed == [] and errors.startswith("rotate: "), f"{args}: {code} {errors}")
    code, printed, errors = run("missing", "db", "1", cwd=place)
    check(code == 1 and printed == [] and errors.startswith("rotate: "), f"a missing directory: {code} {errors}")
    check(sorted(os.listdir(place + "/-d")) == [backup("db", 2), backup("db", 3)], "nothing else changed")
    make(place + "/none", "a")
    check(run("none", "db", "1", cwd=place)[:2] == (0, []), "no backups")
    make(place + "/many", *[f"db-{20000101 + number}-000000.tar.gz" for number in range(300)])
    code, printed, _ = run("many", "db", "08", cwd=place)
    check(code == 0 and len(printed) == 292 and printed == sorted(printed), "many files, and a number that begins with 0")
