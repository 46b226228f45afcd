package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Cipher;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** RSA by {@code Cipher.doFinal} with the public key, and a comparison with the data. */
public final class RawVerify extends Loop {
    private Cipher cipher;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        cipher = Engines.cipher(work);
        cipher.init(Cipher.DECRYPT_MODE, Engines.keyPair(work).getPublic());
    }

    @Override
    public void run(int n) {
        Cipher cipher = this.cipher;
        byte[] in = work.in;
        int size = work.size;
        byte[] given = Engines.signatureBehind(work);
        boolean good = true;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                byte[] data = cipher.doFinal(given);
                good &= Arrays.equals(data, 0, data.length, in, 0, size);
            }
        } catch (GeneralSecurityException | RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        if (!good) {
            failed("the signature was refused");
        }
    }
}
