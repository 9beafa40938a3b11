import java.math.BigDecimal;
import java.util.List;
import shop.Article;
import shop.Cart;
import shop.Catalogue;
import shop.Invoice;
import shop.Page;
import shop.Sku;

public final class ShopTest {
    public static void main(String[] args) {
        Catalogue catalogue = new Catalogue();
        catalogue.put(new Article(new Sku("AB-1"), "Titanium kettle", new BigDecimal("0.10"), 3, List.of("kitchen")));
        Cart cart = new Cart();
        cart.add(new Sku("AB-1"), 1);
        cart.add(new Sku("ab-1"), 2);
        check(cart.quantities().size() == 1, "the same article is in the cart twice");
        check(!cart.remove(new Sku("XX-1")), "an article that is not there");
        Invoice invoice = new Invoice(cart, catalogue, List.of(), new BigDecimal("0.081"));
        check(invoice.gross().toString().equals("0.32"), "the gross sum is " + invoice.gross());
        check(Page.of(List.of(1, 2, 3), 2, 2).items().equals(List.of(3)), "the last page");
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            System.err.println(message);
            System.exit(1);
        }
    }
}
