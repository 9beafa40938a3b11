package shipping;

public record Shipment(String kind, int grams, String country, boolean insured) {
    public boolean isAbroad() {
        return !country.equals("CH");
    }
}
