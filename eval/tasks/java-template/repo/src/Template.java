import java.util.Map;

public final class Template {
    private final String text;

    private Template(String text) {
        this.text = text;
    }

    public static Template parse(String text) {
        return new Template(text);
    }

    public String render(Map<String, ?> values) {
        String result = text;
        for (Map.Entry<String, ?> entry : values.entrySet()) {
            result = result.replace("{" + entry.getKey() + "}", String.valueOf(entry.getValue()));
        }
        return result;
    }
}
