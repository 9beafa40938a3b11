import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

public final class TemplateHidden {
    public static void main(String[] args) {
        values();
        sections();
        lines();
        errors();
        manyThreads();
    }

    private static void values() {
        Map<String, ?> values = Map.of("a", "<\"x\" & 'y'>", "n", 1.5, "m", Map.of("k", Map.of("v", 7)), "t", "{{n}}", "false", false);
        renders("&lt;&quot;x&quot; &amp; 'y'&gt;", "{{a}}", values);
        renders("<\"x\" & 'y'>|1.5", "{{{ a }}}|{{\tn }}", values);
        renders("7||", "{{m.k.v}}|{{m.x.v}}|{{m.k.v.z}}", values);
        renders("{{n}}", "{{t}}", values);
        renders("[][false]", "[{{missing}}][{{false}}]", values);
        renders("a { b } } {x}", "a { b } } {x}", values);
        renders("x y", "x{{! no {{ more }} y", values);
        Map<String, Object> withNull = new HashMap<>();
        withNull.put("z", null);
        renders("<>", "<{{z}}{{#z}}x{{/z}}>", withNull);
        renders("", "", Map.of());
    }

    private static void sections() {
        Map<String, Object> values = new HashMap<>(Map.of(
            "list", List.of("a", "<b>"), "none", List.of(), "yes", true, "no", false, "empty", "", "text", "t", "zero", 0,
            "outer", "o", "name", "N", "rows", List.of(List.of(1, 2), List.of(3))));
        values.put("map", Map.of("outer", "inner", "list", List.of()));
        values.put("people", List.of(Map.of("name", "A", "tags", List.of("x", "y")), Map.of("tags", List.of("z"))));
        renders("a,&lt;b&gt;,", "{{#list}}{{.}},{{/list}}", values);
        renders("|y|||t|z|", "{{#none}}n{{/none}}|{{#yes}}y{{/yes}}|{{#no}}n{{/no}}|{{#empty}}e{{/empty}}|{{#text}}{{.}}{{/text}}|{{#zero}}z{{/zero}}|{{#missing}}m{{/missing}}", values);
        renders("n||n|e|||m", "{{^none}}n{{/none}}|{{^yes}}y{{/yes}}|{{^no}}n{{/no}}|{{^empty}}e{{/empty}}|{{^text}}t{{/text}}|{{^zero}}z{{/zero}}|{{^missing}}m{{/missing}}", values);
        renders("inner-o", "{{#map}}{{outer}}{{/map}}-{{outer}}", values);
        renders("none", "{{#map}}{{^list}}none{{/list}}{{/map}}", values);
        renders("[12][3]", "{{#rows}}[{{#.}}{{.}}{{/.}}]{{/rows}}", values);
        renders("A:Ax.Ay. N:Nz. ", "{{#people}}{{name}}:{{#tags}}{{name}}{{.}}.{{/tags}} {{/people}}", values);
        renders("", "{{#map}}{{map.text}}{{outer.x}}{{/map}}", values);
        Map<String, Object> shadow = new HashMap<>();
        shadow.put("k", null);
        renders("", "{{#m}}{{k}}{{/m}}", Map.of("m", shadow, "k", "outside"));
        renders("inner inner", "{{#map}}{{outer}} {{#text}}{{outer}}{{/text}}{{/map}}", values);
        renders("12", "{{#a.b}}{{.}}{{/a.b}}", Map.of("a", Map.of("b", List.of(1, 2))));
    }

    private static void lines() {
        Map<String, ?> values = Map.of("l", List.of(1, 2), "v", "V");
        renders("a\n1\n2\nb", "a\n{{#l}}\n{{.}}\n{{/l}}\nb", values);
        renders("a\r\n1\r\n2\r\nb", "a\r\n \t{{#l}} \r\n{{.}}\r\n{{/l}}\r\nb", values);
        renders("1\n2\n", "{{#l}}\n{{.}}\n{{/l}}", values);
        renders(" V \n", " {{v}} \n", values);
        renders("x\n \ny", "x\n {{#n}}a{{/n}}\ny", values);
        renders("a\nb\n", "a\n  {{! note }}  \nb\n", values);
        renders("a\nb\n", "a\n{{! two\nlines }}\nb\n", values);
        renders("a \n", "a {{! note }}\n", values);
        renders("\n\n", "\n{{! note }}\n\n", values);
        renders("  1\n  2\n", "{{#l}}\n  {{.}}\n{{/l}}\n", values);
    }

    private static void errors() {
        fails(2, "a\n{{#b}}\nc\n");
        fails(3, "{{#a}}\n{{#b}}\n{{/a}}\n{{/b}}");
        fails(2, "x\n{{/a}}");
        fails(1, "{{a");
        fails(2, "\n{{{a}}\n");
        fails(3, "\n\n {{ }}");
        fails(1, "{{#}}x{{/}}");
        fails(2, "{{#a}}\n{{^b}}{{/a}}");
        fails(1, "{{! never closed");
    }

    private static void manyThreads() {
        Template template = Template.parse("{{#l}}{{.}}{{n}},{{/l}}");
        boolean same = IntStream.range(0, 2000).parallel().allMatch(i ->
            template.render(Map.of("l", List.of("a", "b"), "n", i)).equals("a" + i + ",b" + i + ","));
        check(same, "threads");
        List<Object> list = new ArrayList<>(Arrays.asList(1, null, 2));
        renders("1--2-", "{{#l}}{{.}}-{{/l}}", Map.of("l", list));
    }

    private static void renders(String expected, String text, Map<String, ?> values) {
        String found = Template.parse(text).render(values);
        check(expected.equals(found), text + ": expected " + expected + ", found " + found);
    }

    private static void fails(int line, String text) {
        try {
            Template.parse(text);
        } catch (TemplateException thrown) {
            RuntimeException unchecked = thrown;
            check(thrown.line() == line && unchecked.getMessage() != null, text + ": line " + thrown.line());
            return;
        }
        check(false, text + ": no error");
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            System.err.println(message);
            System.exit(1);
        }
    }
}
