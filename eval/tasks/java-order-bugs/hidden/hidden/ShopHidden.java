package hidden;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import shop.Article;
import shop.Cart;
import shop.Catalogue;
import shop.Discount;
import shop.Invoice;
import shop.Orders;
import shop.Page;
import shop.Sku;

public final class ShopHidden {
    public static void main(String[] args) throws Exception {
        numbers();
        lists();
        carts();
        pages();
        sharing();
        invoices();
        orders();
        Locale.setDefault(Locale.forLanguageTag("tr-TR"));
        numbers();
        lists();
        System.exit(0);
    }

    private static Article article(String sku, String name, String price, long stock, String... tags) {
        return new Article(new Sku(sku), name, new BigDecimal(price), stock, List.of(tags));
    }

    private static String skus(List<Article> articles) {
        return String.join(" ", articles.stream().map(each -> each.sku().toString()).toList());
    }

    private static void numbers() {
        check(new Sku(" ti-1 ").equals(new Sku("TI-1")) && new Sku("ti-1").hashCode() == new Sku("TI-1").hashCode());
        check(new Sku("ti-1").toString().equals("TI-1") && !new Sku("ti-1").equals(new Sku("ti-2")));
        check(new HashSet<>(List.of(new Sku("Ti-1"), new Sku("x"))).contains(new Sku("tI-1")));
    }

    private static void lists() {
        Catalogue catalogue = new Catalogue();
        catalogue.put(article("i-3", "TITANIUM kettle", "10.00", 5, "KITCHEN", "Camping"));
        catalogue.put(article("I-1", "Kettle", "10", 4_000_000_000L, "kitchen"));
        catalogue.put(article("i-2", "Lid", "9.5", 5));
        catalogue.put(article("I-4", "Rope", "9.50", -4_000_000_000L, "camping"));
        catalogue.put(article("i-5", "Rope", "9.500", 2_147_483_648L, "camping"));
        check(catalogue.find(new Sku("I-3")).name().equals("TITANIUM kettle"));
        check(skus(catalogue.search("titanium")).equals("I-3") && skus(catalogue.search("KITCHEN")).equals("I-1 I-3"));
        check(skus(catalogue.search("  kettle   Camping ")).equals("I-3") && catalogue.search("lid rope").isEmpty());
        check(skus(catalogue.search("")).equals("I-1 I-2 I-3 I-4 I-5"));
        check(skus(catalogue.byStock()).equals("I-1 I-5 I-2 I-3 I-4"));
        List<String> groups = catalogue.byPrice().stream().map(ShopHidden::skus).toList();
        check(groups.equals(List.of("I-2 I-4 I-5", "I-1 I-3")));
        catalogue.put(article("I-2", "Lid", "1", 6));
        check(skus(catalogue.byPrice().get(0)).equals("I-2") && skus(catalogue.byStock()).equals("I-1 I-5 I-2 I-3 I-4"));
        Catalogue large = new Catalogue();
        Random random = new Random(3);
        for (int i = 0; i < 2000; i++) {
            large.put(article("S" + i, "n", "1", random.nextLong()));
        }
        List<Article> sorted = large.byStock();
        for (int i = 1; i < sorted.size(); i++) {
            check(sorted.get(i - 1).stock() >= sorted.get(i).stock());
        }
    }

    private static void carts() {
        Catalogue catalogue = new Catalogue();
        catalogue.put(article("b", "B", "1", 1));
        Cart cart = new Cart();
        Cart other = new Cart();
        for (String sku : List.of("a", "b", "c", "d")) {
            cart.add(new Sku(sku), 1000);
        }
        for (String sku : List.of("D", "C", "B", "A")) {
            other.add(new Sku(sku), 400);
            other.add(new Sku(sku), 600);
        }
        check(cart.isSameAs(other) && other.isSameAs(cart));
        other.add(new Sku("a"), 1);
        check(!cart.isSameAs(other));
        check(other.remove(new Sku("a")) && !other.remove(new Sku("a")));
        other.add(new Sku("e"), 1000);
        check(!cart.isSameAs(other) && !other.isSameAs(cart));
        refuses(IllegalArgumentException.class, () -> cart.add(new Sku("a"), 0));
        cart.removeUnknown(catalogue);
        check(cart.quantities().toString().equals("{B=1000}"));
        Cart full = new Cart();
        full.add(new Sku("a"), Integer.MAX_VALUE);
        refuses(ArithmeticException.class, () -> full.add(new Sku("a"), 1));
        check(full.quantities().get(new Sku("A")) == Integer.MAX_VALUE);
        refuses(UnsupportedOperationException.class, () -> full.quantities().clear());
    }

    private static void pages() {
        List<Integer> list = List.of(1, 2, 3, 4, 5);
        check(Page.of(list, 3, 2).items().equals(List.of(5)) && Page.of(list, 3, 2).pages() == 3);
        check(Page.of(list, 1, 5).pages() == 1 && Page.of(list, 1, 9).items().equals(list));
        check(Page.of(list, 2, 2).items().equals(List.of(3, 4)) && Page.of(list, 2, 2).number() == 2);
        check(Page.of(List.of(), 1, 10).equals(new Page<Integer>(List.of(), 1, 1)));
        check(Page.of(list, 1, Integer.MAX_VALUE).items().equals(list));
        refuses(IllegalArgumentException.class, () -> Page.of(list, 0, 2));
        refuses(IllegalArgumentException.class, () -> Page.of(list, 4, 2));
        refuses(IllegalArgumentException.class, () -> Page.of(List.of(), 2, 2));
        refuses(IllegalArgumentException.class, () -> Page.of(list, 1, 0));
        refuses(IllegalArgumentException.class, () -> Page.of(list, 1, -1));
    }

    /** What was given out does not change later, and cannot be changed from outside. */
    private static void sharing() {
        List<Integer> list = new ArrayList<>(List.of(1, 2, 3));
        Page<Integer> page = Page.of(list, 1, 2);
        list.add(0, 9);
        check(page.items().equals(List.of(1, 2)));
        refuses(UnsupportedOperationException.class, () -> page.items().clear());
        List<String> tags = new ArrayList<>(List.of("new"));
        Article article = new Article(new Sku("a"), "A", BigDecimal.ONE, 1, tags);
        tags.add("old");
        check(article.tags().equals(List.of("new")));
        refuses(UnsupportedOperationException.class, () -> article.tags().add("x"));
        Catalogue catalogue = new Catalogue();
        catalogue.put(article);
        Cart cart = new Cart();
        cart.add(new Sku("a"), 2);
        var before = cart.quantities();
        Invoice invoice = new Invoice(cart, catalogue, List.of(), BigDecimal.ZERO);
        cart.add(new Sku("a"), 1);
        check(before.get(new Sku("a")) == 2 && invoice.rows().get(0).quantity() == 2);
        refuses(UnsupportedOperationException.class, () -> invoice.rows().clear());
        refuses(UnsupportedOperationException.class, () -> catalogue.search("a").clear());
        try {
            catalogue.byStock().clear();
        } catch (UnsupportedOperationException thrown) {
            // Whether this list can be changed is left open, but the catalogue may not follow.
        }
        check(catalogue.byStock().size() == 1);
    }

    private static Invoice invoice(String rate, List<Discount> discounts, String... pricesAndQuantities) {
        Catalogue catalogue = new Catalogue();
        Cart cart = new Cart();
        for (int i = 0; i < pricesAndQuantities.length; i += 2) {
            catalogue.put(article("S" + i, "n", pricesAndQuantities[i], 1));
            cart.add(new Sku("s" + i), Integer.parseInt(pricesAndQuantities[i + 1]));
        }
        return new Invoice(cart, catalogue, discounts, new BigDecimal(rate));
    }

    private static Discount discount(String from, String percent) {
        return new Discount(new BigDecimal(from), new BigDecimal(percent));
    }

    private static String text(Invoice invoice) {
        return invoice.net() + " " + invoice.discount() + " " + invoice.tax() + " " + invoice.gross();
    }

    private static void invoices() {
        check(text(invoice("0.081", List.of(), "0.10", "3")).equals("0.30 0.00 0.02 0.32"));
        check(text(invoice("0", List.of())).equals("0.00 0.00 0.00 0.00"));
        // Half up for each row, and the sum of the rounded rows.
        Invoice rows = invoice("0", List.of(), "0.125", "1", "0.145", "1", "0.135", "1");
        check(rows.rows().stream().map(row -> row.net().toString()).toList().equals(List.of("0.13", "0.15", "0.14")));
        check(text(rows).equals("0.42 0.00 0.00 0.42"));
        check(text(invoice("0.1", List.of(), "1.005", "1")).equals("1.01 0.00 0.10 1.11"));
        check(text(invoice("0", List.of(), "9007199254740993.01", "1")).equals("9007199254740993.01 0.00 0.00 9007199254740993.01"));
        // The tax is that of the sum less the discount, and a discount has two decimals.
        List<Discount> discounts = List.of(discount("500", "20"), discount("100", "10"), discount("300", "7"));
        check(text(invoice("0.1", discounts, "100", "1")).equals("100.00 10.00 9.00 99.00"));
        check(text(invoice("0.1", discounts, "99.99", "1")).equals("99.99 0.00 10.00 109.99"));
        check(text(invoice("0.1", discounts, "300.00", "1")).equals("300.00 30.00 27.00 297.00"));
        check(text(invoice("0.1", discounts, "250", "2")).equals("500.00 100.00 40.00 440.00"));
        check(text(invoice("0.08", List.of(discount("0", "3.3")), "9.95", "1")).equals("9.95 0.33 0.77 10.39"));
        check(text(invoice("0", List.of(discount("0", "12.5")), "0.20", "1")).equals("0.20 0.03 0.00 0.17"));
        Cart cart = new Cart();
        cart.add(new Sku("none"), 1);
        refuses(IllegalArgumentException.class, () -> new Invoice(cart, new Catalogue(), List.of(), BigDecimal.ZERO));
    }

    private static void orders() throws InterruptedException {
        Orders orders = new Orders();
        Invoice invoice = invoice("0", List.of(), "1", "1");
        refuses(IllegalStateException.class, () -> orders.place(() -> {
            throw new IllegalStateException("no invoice");
        }));
        check(orders.count() == 0 && orders.place(() -> invoice) == 1 && orders.find(1) == invoice && orders.find(2) == null);
        Set<Integer> numbers = Collections.synchronizedSet(new HashSet<>());
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            threads.add(start(() -> {
                for (int i = 0; i < 2000; i++) {
                    int number = orders.place(() -> invoice);
                    numbers.add(number);
                    check(orders.find(number) == invoice);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join(15_000);
            check(!thread.isAlive());
        }
        check(numbers.size() == 16_000 && orders.count() == 16_001 && !numbers.contains(1) && orders.find(16_001) == invoice);
        // A supplier that takes long does not keep the others from ordering.
        CountDownLatch gate = new CountDownLatch(1);
        Thread slow = start(() -> orders.place(() -> {
            await(gate);
            return invoice;
        }));
        while (slow.getState() != Thread.State.WAITING && slow.getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(1);
        }
        Thread quick = start(() -> {
            check(orders.place(() -> invoice) == 16_002);
            check(orders.count() == 16_002);
        });
        quick.join(8000);
        check(!quick.isAlive());
        gate.countDown();
        slow.join(8000);
        check(orders.count() == 16_003 && orders.find(16_003) == invoice);
    }

    private static void await(CountDownLatch gate) {
        try {
            check(gate.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException thrown) {
            throw new IllegalStateException(thrown);
        }
    }

    private static Thread start(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler((which, thrown) -> {
            thrown.printStackTrace();
            System.exit(1);
        });
        thread.start();
        return thread;
    }

    private static void refuses(Class<? extends Exception> kind, Runnable work) {
        try {
            work.run();
        } catch (Exception thrown) {
            if (!kind.isInstance(thrown)) {
                thrown.printStackTrace();
            }
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
