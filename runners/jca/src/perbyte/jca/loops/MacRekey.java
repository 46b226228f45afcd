package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** A new {@code SecretKeySpec}, {@code Mac.init}, {@code Mac.doFinal(byte[])}: a whole message under a new key. */
public final class MacRekey extends Loop {
    private Mac mac;
    private String keyName;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        mac = Engines.mac(work);
        keyName = Engines.keyName(work);
    }

    @Override
    public void run(int n) {
        Mac mac = this.mac;
        byte[] in = work.in;
        byte[] last = result;
        byte[][] key = work.key;
        String keyName = this.keyName;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                mac.init(new SecretKeySpec(key[i & 15], keyName));
                last = mac.doFinal(in);
            }
        } catch (GeneralSecurityException | RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        result = last;
        length = last.length;
    }
}
