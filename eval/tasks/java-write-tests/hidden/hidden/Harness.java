package hidden;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Runs the tests against right versions, which they must accept, and against wrong ones, which they must refuse. */
public final class Harness {
    private static final long LIMIT_MS = 10_000;
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
    private static final StandardJavaFileManager FILES = COMPILER.getStandardFileManager(null, null, null);

    /** A version of the class: pairs of a text that occurs once, and what replaces it. */
    private record Version(String name, String... replacements) {
    }

    private static final List<Version> RIGHT = List.of(
        new Version("the given class"),
        new Version("other tokens", "lastToken++;", "lastToken += 7;", "lastToken = 0", "lastToken = -1000"),
        new Version("other messages and lists", "\"maxPerOwner: \" + maxPerOwner", "\"too small\"", "owner + \" has \" + count + \" leases\"",
            "\"too many\"", "\"ttl: \" + ttl", "\"no time\"", "        return active;", "        return List.copyOf(active);"));

    private static final List<Version> WRONG = List.of(
        new Version("no limit of maxPerOwner", "maxPerOwner < 1", "maxPerOwner < 0"),
        new Version("a limit of two at least", "maxPerOwner < 1", "maxPerOwner < 2"),
        new Version("ended leases are still active", "isActive = present != null && now < present.end()", "isActive = present != null"),
        new Version("active at the end", "isActive = present != null && now < present.end()", "isActive = present != null && now <= present.end()"),
        new Version("taken from others", "isActive && !present.owner().equals(owner)", "isActive && !present.owner().equals(owner) && end < 0"),
        new Version("refused to the owner", "        if (isActive) {\n", "        if (isActive) {\n            if (end > 0) {\n                return Optional.empty();\n            }\n"),
        new Version("a new token for the owner", "present.token(), Math", "++lastToken, Math"),
        new Version("shortened by its owner", "Math.max(present.end(), end)", "end"),
        new Version("never prolonged by its owner", "Math.max(present.end(), end)", "present.end()"),
        new Version("the longer lease is not kept", "            leases.put(name, longer);\n", ""),
        new Version("the limit counts all owners", "filter(lease -> lease.owner().equals(owner) && now < lease.end())", "filter(lease -> now < lease.end())"),
        new Version("the limit counts ended leases", "filter(lease -> lease.owner().equals(owner) && now < lease.end())", "filter(lease -> lease.owner().equals(owner))"),
        new Version("the limit counts leases that just end", "filter(lease -> lease.owner().equals(owner) && now < lease.end())", "filter(lease -> lease.owner().equals(owner) && now <= lease.end())"),
        new Version("one more than the limit", "count >= maxPerOwner", "count > maxPerOwner"),
        new Version("the limit before the owner's own lease", "        if (isActive) {\n", "        if (leases.values().stream().filter(l -> l.owner().equals(owner) && now < l.end()).count() >= maxPerOwner) {\n            throw new IllegalStateException();\n        }\n        if (isActive) {\n"),
        new Version("the limit before the answer that another has it", "        if (isActive && !present.owner().equals(owner)) {\n", "        if (leases.values().stream().filter(l -> l.owner().equals(owner) && !l.name().equals(name) && now < l.end()).count() >= maxPerOwner) {\n            throw new IllegalStateException();\n        }\n        if (isActive && !present.owner().equals(owner)) {\n"),
        new Version("tokens go down", "lastToken++;", "lastToken--;"),
        new Version("tokens per name", "        lastToken++;\n        Lease lease = new Lease(name, owner, lastToken, end);", "        lastToken++;\n        Lease lease = new Lease(name, owner, present == null ? 1 : present.token() + 1, end);"),
        new Version("the same token again", "lastToken++;", "lastToken = leases.size() + 1;"),
        new Version("renew with any token", "present.token() != token || now >= present.end()", "now >= present.end()"),
        new Version("renew after the end", "present.token() != token || now >= present.end()", "present.token() != token"),
        new Version("renew at the end", "present.token() != token || now >= present.end()", "present.token() != token || now > present.end()"),
        new Version("renew never shortens", "present.owner(), token, end)", "present.owner(), token, Math.max(end, present.end()))"),
        new Version("renew adds to the end", "present.owner(), token, end)", "present.owner(), token, present.end() + ttl)"),
        new Version("renew does nothing", "        leases.put(name, new Lease(name, present.owner(), token, end));\n", ""),
        new Version("renew does not check ttl", "        long end = endOf(now, ttl);\n        Lease present = leases.get(name);\n        if (present == null || present.token() != token ||", "        long end = now + ttl;\n        Lease present = leases.get(name);\n        if (present == null || present.token() != token ||"),
        new Version("release with any token", "present == null || present.token() != token) {", "present == null) {"),
        new Version("release does nothing", "        leases.remove(name);\n", ""),
        new Version("active lists all", "            if (now < lease.end()) {\n", "            if (now < lease.end() || now >= 0) {\n"),
        new Version("active at its end", "            if (now < lease.end()) {\n", "            if (now <= lease.end()) {\n"),
        new Version("active by name", "Comparator.comparingLong(Lease::end).thenComparing(Lease::name)", "Comparator.comparing(Lease::name)"),
        new Version("active by end only", "Comparator.comparingLong(Lease::end).thenComparing(Lease::name)", "Comparator.comparingLong(Lease::end).thenComparing(Lease::token)"),
        new Version("active backwards", "Comparator.comparingLong(Lease::end)", "Comparator.comparingLong(Lease::end).reversed()"),
        new Version("active removes", "            if (now < lease.end()) {\n                active.add(lease);\n            }\n        }\n", "            if (now < lease.end()) {\n                active.add(lease);\n            }\n        }\n        leases.values().retainAll(active);\n"),
        new Version("sweep keeps what just ends", "removeIf(lease -> now >= lease.end())", "removeIf(lease -> now > lease.end())"),
        new Version("sweep removes all", "removeIf(lease -> now >= lease.end())", "removeIf(lease -> now >= 0)"),
        new Version("sweep does nothing", "        leases.values().removeIf(lease -> now >= lease.end());\n", ""),
        new Version("sweep returns what is left", "return before - leases.size()", "return leases.size() + 0 * before"),
        new Version("ttl of 0", "ttl <= 0", "ttl < 0"),
        new Version("ttl of 1 is refused", "ttl <= 0", "ttl <= 1"),
        new Version("the end overflows", "return end < now ? Long.MAX_VALUE : end", "return end"));

    public static void main(String[] args) throws Exception {
        Path build = Path.of("build");
        Path tests = build.resolve("tests");
        Path given = write(build, "given", RIGHT.get(0));
        compile(tests, given, given.resolveSibling("Lease.java"), Path.of("test", "LeasesTest.java"));
        List<String> problems = new ArrayList<>();
        for (Version version : RIGHT) {
            Throwable thrown = run(build, tests, version);
            if (thrown != null) {
                problems.add("the tests fail with a right version (" + version.name() + "): " + thrown);
            }
        }
        for (Version version : problems.isEmpty() ? WRONG : List.<Version>of()) {
            if (run(build, tests, version) == null) {
                problems.add("the tests pass although: " + version.name());
            }
        }
        problems.forEach(System.err::println);
        Files.writeString(build.resolve("verdict"), problems.isEmpty() ? "good" : "bad");
        System.exit(problems.isEmpty() ? 0 : 1);
    }

    /** Writes the sources of a version, and returns the path of the class. */
    private static Path write(Path build, String name, Version version) throws IOException {
        Path source = build.resolve("sources").resolve(name).resolve("leases").resolve("Leases.java");
        Files.createDirectories(source.getParent());
        Files.writeString(source, replace(Files.readString(Path.of("hidden", "Leases.java.txt")), version));
        Files.copy(Path.of("hidden", "Lease.java.txt"), source.resolveSibling("Lease.java"));
        return source;
    }

    private static void compile(Path to, Path... sources) throws IOException {
        Files.createDirectories(to);
        List<String> options = List.of("-proc:none", "-d", to.toString());
        if (!COMPILER.getTask(null, FILES, null, options, null, FILES.getJavaFileObjects(sources)).call()) {
            throw new IOException("this does not compile: " + List.of(sources));
        }
    }

    /** Returns what the tests throw; null if they pass. */
    private static Throwable run(Path build, Path tests, Version version) throws Exception {
        String name = version.name().replace(' ', '-').replace("'", "");
        Path source = write(build, name, version);
        Path classes = build.resolve("classes").resolve(name);
        compile(classes, source, source.resolveSibling("Lease.java"));
        // The classes of the version come first.
        URL[] path = {classes.toUri().toURL(), tests.toUri().toURL()};
        AtomicReference<Throwable> end = new AtomicReference<>(new IOException("no end within the limit"));
        try (URLClassLoader loader = new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
            Thread thread = new Thread(() -> {
                try {
                    loader.loadClass("LeasesTest").getMethod("main", String[].class).invoke(null, (Object) new String[0]);
                    end.set(null);
                } catch (Throwable thrown) {
                    end.set(thrown.getCause() == null ? thrown : thrown.getCause());
                }
            });
            thread.setDaemon(true);
            thread.start();
            thread.join(LIMIT_MS);
        }
        return end.get();
    }

    private static String replace(String source, Version version) {
        String text = source;
        for (int i = 0; i < version.replacements().length; i += 2) {
            String old = version.replacements()[i];
            int at = text.indexOf(old);
            if (at < 0 || text.indexOf(old, at + 1) >= 0) {
                throw new IllegalStateException(version.name() + ": this text does not occur once: " + old);
            }
            text = text.substring(0, at) + version.replacements()[i + 1] + text.substring(at + old.length());
        }
        return text;
    }
}
