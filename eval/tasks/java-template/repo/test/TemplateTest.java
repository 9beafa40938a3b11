import java.util.List;
import java.util.Map;

public final class TemplateTest {
    public static void main(String[] args) {
        Template mail = Template.parse("Dear {{ user.name }},\n{{#items}}\n- {{title}} ({{.}})\n{{/items}}\n{{^items}}\nnothing\n{{/items}}\n");
        expect("Dear A &amp; B,\nnothing\n", mail.render(Map.of("user", Map.of("name", "A & B"))));
        expect("Dear ,\n- x (1)\n- x (2)\n", mail.render(Map.of("items", List.of(1, 2), "title", "x")));
        try {
            Template.parse("a\n{{#b}}\n");
            expect("an error", "none");
        } catch (TemplateException thrown) {
            expect("2", String.valueOf(thrown.line()));
        }
    }

    private static void expect(String expected, String found) {
        if (!expected.equals(found)) {
            System.err.println("expected " + expected + ", found " + found);
            System.exit(1);
        }
    }
}
