package shop;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/** Gives numbers to orders. Any number of threads may use it. */
public final class Orders {
    private final Map<Integer, Invoice> invoices = new HashMap<>();
    private int last = 0;

    /** Stores the invoice that the supplier makes, under the next number (from 1, without gaps). */
    public int place(Supplier<Invoice> supplier) {
        int number = ++last;
        invoices.put(number, supplier.get());
        return number;
    }

    /** The invoice with this number, or null. */
    public Invoice find(int number) {
        return invoices.get(number);
    }

    public int count() {
        return last;
    }
}
