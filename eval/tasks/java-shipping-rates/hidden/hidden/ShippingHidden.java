package hidden;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import shipping.Customs;
import shipping.Estimates;
import shipping.Kind;
import shipping.Kinds;
import shipping.Labels;
import shipping.Lines;
import shipping.Prices;
import shipping.Report;
import shipping.Shipment;
import shipping.Tracking;

public final class ShippingHidden {
    public static void main(String[] args) {
        sameAsBefore();
        newKind();
        System.exit(0);
    }

    /** Compares each function with the one before the change, also in what it throws. */
    private static void sameAsBefore() {
        check(Kinds.all().stream().map(Kind::code).toList().equals(List.of("letter", "parcel", "express", "freight")));
        Random random = new Random(5);
        int[] weights = {1, 20, 21, 99, 100, 101, 500, 501, 999, 1000, 1001, 30_000, 30_001, 49_999, 50_010, 999_999, 1_000_000, 2_500_000};
        String[] words = {"letter", "parcel", "express", "freight", "drone", "Letter", "", "l", "p"};
        for (String kind : words) {
            for (int grams : weights) {
                for (String country : List.of("CH", "LI", "FR", "ch")) {
                    for (boolean insured : new boolean[] {true, false}) {
                        Shipment s = new Shipment(kind, grams, country, insured);
                        same(() -> hidden.old.Prices.cents(s), () -> Prices.cents(s));
                        same(() -> hidden.old.Labels.text(s), () -> Labels.text(s));
                        same(() -> hidden.old.Customs.form(s), () -> Customs.form(s));
                        same(() -> hidden.old.Estimates.days(s), () -> Estimates.days(s));
                        for (long serial : new long[] {0, 7, 12345678, 99999999, 1234567890123L}) {
                            same(() -> hidden.old.Tracking.number(s, serial), () -> Tracking.number(s, serial));
                        }
                    }
                }
            }
        }
        String[] starts = {"letter", "L", "p", "PACKET", "Express", "x", "freight", "F", "pallet", "drone", "", "bike"};
        for (String start : starts) {
            for (String rest : List.of(" 5 ch", "  10 li insured ", " 0 CH", " -3 CH", " x CH", " 1 CH Insured", "", " 1", " 1 CH insured x", " 99999999999 CH")) {
                same(() -> hidden.old.Lines.parse(start + rest), () -> Lines.parse(start + rest));
            }
        }
        for (int i = 0; i < 200; i++) {
            List<Shipment> list = new ArrayList<>();
            for (int k = random.nextInt(8); k > 0; k--) {
                list.add(new Shipment(words[random.nextInt(6)], weights[random.nextInt(11)], random.nextBoolean() ? "CH" : "FR", random.nextBoolean()));
            }
            same(() -> hidden.old.Report.text(list), () -> Report.text(list));
        }
        check(Kinds.find("drone").isEmpty() && Kinds.find("l").isEmpty() && Kinds.find("Letter").isEmpty());
        check(Kinds.find("parcel").orElseThrow().aliases().contains("packet"));
        refuses(UnsupportedOperationException.class, () -> Kinds.all().add(new Named("y", List.of())));
    }

    private static void newKind() {
        refuses(IllegalArgumentException.class, () -> Kinds.register(new Named("letter", List.of())));
        refuses(IllegalArgumentException.class, () -> Kinds.register(new Named("p", List.of())));
        refuses(IllegalArgumentException.class, () -> Kinds.register(new Named("ship", List.of("boat", "packet"))));
        refuses(IllegalArgumentException.class, () -> Kinds.register(new Named("ship", List.of("freight"))));
        check(Kinds.all().size() == 4 && Kinds.find("ship").isEmpty());
        refuses(IllegalArgumentException.class, () -> Lines.parse("boat 1 CH"));
        List<Kind> before = Kinds.all();
        Kinds.register(new Named("drone", List.of("d", "quadcopter")));
        Kinds.register(new Named("boat", List.of()));
        check(before.size() == 4 && Kinds.all().size() == 6 && Kinds.find("drone").isPresent());
        Shipment s = Lines.parse("QuadCopter 250 fr insured");
        check(s.equals(new Shipment("drone", 250, "FR", true)) && Lines.parse("d 1 CH").kind().equals("drone"));
        check(Prices.cents(s) == 251 && Labels.text(s).equals("by drone") && Customs.form(s).equals(Optional.of("form drone")));
        check(Estimates.days(s) == 5 && Tracking.number(s, 8).equals("drone8") && Tracking.number(s, -1).equals("drone-1"));
        Shipment home = Lines.parse("boat 250 CH");
        check(Customs.form(home).equals(Optional.of("form boat")));
        String text = Report.text(List.of(new Shipment("zeppelin", 1, "CH", false), home, s, s, Lines.parse("f 1 CH"), Lines.parse("l 1 CH")));
        check(text.equals("letter 1 110\nfreight 1 5000\ndrone 2 502\nboat 1 251\nother 1\n"));
    }

    private record Named(String code, List<String> aliases) implements Kind {
        public long cents(Shipment shipment) {
            return shipment.grams() + 1;
        }

        public String label(Shipment shipment) {
            return "by " + code;
        }

        public Optional<String> customsForm(Shipment shipment) {
            return Optional.of("form " + code);
        }

        public int days(Shipment shipment) {
            return 5;
        }

        public String trackingNumber(Shipment shipment, long serial) {
            return code + serial;
        }
    }

    private static void same(Supplier<Object> before, Supplier<Object> after) {
        String expected = outcome(before);
        String found = outcome(after);
        if (!expected.equals(found)) {
            System.err.println("expected " + expected + ", found " + found);
            check(false);
        }
    }

    private static String outcome(Supplier<Object> work) {
        try {
            return String.valueOf(work.get());
        } catch (RuntimeException thrown) {
            return thrown.getClass().getName() + ": " + thrown.getMessage();
        }
    }

    private static void refuses(Class<? extends Exception> kind, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException thrown) {
            check(kind.isInstance(thrown));
            return;
        }
        check(false);
    }

    private static void check(boolean condition) {
        if (!condition) {
            new AssertionError("failed").printStackTrace();
            System.exit(1);
        }
    }
}
