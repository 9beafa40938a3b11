import java.util.List;
import java.util.Optional;
import shipping.Kind;
import shipping.Kinds;
import shipping.Labels;
import shipping.Lines;
import shipping.Prices;
import shipping.Shipment;

public final class KindsTest {
    public static void main(String[] args) {
        check(Prices.cents(Lines.parse("l 20 CH")) == 110, "a letter");
        check(Kinds.all().stream().map(Kind::code).toList().equals(List.of("letter", "parcel", "express", "freight")), "kinds");
        Kinds.register(new Bicycle());
        check(Labels.text(Lines.parse("BIKE 300 CH")).equals("by bicycle"), "the label of a bicycle");
        check(Kinds.find("bicycle").isPresent(), "a new kind");
    }

    private static final class Bicycle implements Kind {
        public String code() {
            return "bicycle";
        }

        public List<String> aliases() {
            return List.of("bike");
        }

        public long cents(Shipment shipment) {
            return 900;
        }

        public String label(Shipment shipment) {
            return "by bicycle";
        }

        public Optional<String> customsForm(Shipment shipment) {
            return Optional.empty();
        }

        public int days(Shipment shipment) {
            return 0;
        }

        public String trackingNumber(Shipment shipment, long serial) {
            return "B" + serial;
        }
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            System.err.println(message);
            System.exit(1);
        }
    }
}
