package shop;

import java.math.BigDecimal;

/** A discount in percent from a net sum on. The best one of those that apply is taken. */
public record Discount(BigDecimal from, BigDecimal percent) {
    public boolean applies(BigDecimal net) {
        return net.compareTo(from) > 0;
    }
}
