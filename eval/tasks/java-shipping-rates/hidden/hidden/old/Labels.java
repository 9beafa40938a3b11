package hidden.old;

import shipping.Shipment;

public final class Labels {
    public static String text(Shipment s) {
        String country = s.isAbroad() ? s.country() : "";
        switch (s.kind()) {
            case "letter":
                return (s.insured() ? "[R] " : "") + (s.grams() > 100 ? "LARGE LETTER" : "LETTER") + line(country);
            case "parcel":
                return "PARCEL " + kilograms(s) + (s.insured() ? " INSURED" : "") + line(country);
            case "express":
                return "*EXPRESS* " + kilograms(s) + line(country);
            case "freight":
                return "FREIGHT " + s.grams() / 1000 + " kg" + (s.insured() ? " INSURED" : "") + line(s.country());
            default:
                return "?" + line(country);
        }
    }

    private static String line(String country) {
        return country.isEmpty() ? "" : "\n" + country;
    }

    private static String kilograms(Shipment s) {
        return s.grams() / 1000 + "." + s.grams() % 1000 / 100 + " kg";
    }

    private Labels() {
    }
}
