package shop;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** An invoice. All amounts have two decimals; the gross sum is the net sum less the discount, plus the tax. */
public final class Invoice {
    /** One article: its net amount is its price times its quantity, rounded to cents (half up). */
    public record Row(Sku sku, int quantity, BigDecimal net) {
    }

    private final List<Row> rows = new ArrayList<>();
    private final BigDecimal net;
    private final BigDecimal discount;
    private final BigDecimal tax;

    /**
     * Throws IllegalArgumentException for an article that the catalogue does not have.
     *
     * @param taxRate the tax as a part of the net sum, such as 0.081
     */
    public Invoice(Cart cart, Catalogue catalogue, List<Discount> discounts, BigDecimal taxRate) {
        double sum = 0;
        for (Map.Entry<Sku, Integer> entry : cart.quantities().entrySet()) {
            Article article = catalogue.find(entry.getKey());
            BigDecimal amount = article.price().multiply(BigDecimal.valueOf(entry.getValue()));
            rows.add(new Row(entry.getKey(), entry.getValue(), amount.setScale(2, RoundingMode.HALF_EVEN)));
            sum += amount.doubleValue();
        }
        net = new BigDecimal(sum).setScale(2, RoundingMode.HALF_UP);
        BigDecimal percent = BigDecimal.ZERO;
        for (Discount each : discounts) {
            if (each.applies(net)) {
                percent = each.percent();
            }
        }
        discount = net.multiply(percent).divide(BigDecimal.valueOf(100));
        tax = net.multiply(taxRate).setScale(2, RoundingMode.HALF_UP);
    }

    public List<Row> rows() {
        return rows;
    }

    public BigDecimal net() {
        return net;
    }

    public BigDecimal discount() {
        return discount;
    }

    public BigDecimal tax() {
        return tax;
    }

    public BigDecimal gross() {
        return net.subtract(discount).add(tax);
    }
}
