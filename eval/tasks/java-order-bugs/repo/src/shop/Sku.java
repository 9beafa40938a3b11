package shop;

/** The number of an article, such as {@code AB-12}. Upper and lower case are the same. */
public final class Sku {
    private final String text;

    public Sku(String text) {
        this.text = text.trim();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Sku sku && sku.text.equalsIgnoreCase(text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    /** The number in upper case. */
    @Override
    public String toString() {
        return text.toUpperCase();
    }
}
